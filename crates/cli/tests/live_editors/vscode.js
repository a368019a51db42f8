// Drives `ndbg dap` with the client library that debug adapters of VS Code are tested with: launch, breakpoint, step,
// look, end. Arguments: the library's folder, ndbg, a program, its source file, a line with a breakpoint, the next line.
'use strict';
const assert = require('assert');
const [library, ndbg, program, source, line, nextLine] = process.argv.slice(2);
const { DebugClient } = require(`${library}/lib/main.js`);

async function main() {
    const client = new DebugClient(ndbg, 'dap', 'coreclr', undefined, true);
    client.defaultTimeout = 60000;
    await client.start();
    const changed = client.waitForEvent('breakpoint');
    // The program is not there yet when the breakpoint is set, so it is verified later, by an event.
    const [, , stack] = await client.hitBreakpoint(
        { program, args: ['one', 'two'], console: 'internalConsole' },
        { path: source, line: Number(line), verified: false },
        { path: source, line: Number(line) },
        {});
    assert.strictEqual((await changed).body.breakpoint.verified, true);
    const threads = await client.threadsRequest();
    const threadId = threads.body.threads[0].id;

    const frameId = stack.body.stackFrames[0].id;
    const scopes = await client.scopesRequest({ frameId });
    const named = scopes.body.scopes.find(it => it.name === 'Arguments');
    const variables = await client.variablesRequest({ variablesReference: named.variablesReference });
    const args = variables.body.variables.find(it => it.name === 'args');
    assert.strictEqual(args.indexedVariables, 2);
    const elements = await client.variablesRequest({ variablesReference: args.variablesReference });
    assert.deepStrictEqual(elements.body.variables.map(it => it.value), ['"one"', '"two"']);
    const value = await client.evaluateRequest({ expression: 'args.Length + 1', frameId, context: 'watch' });
    assert.strictEqual(value.body.result, '3');

    await Promise.all([
        client.nextRequest({ threadId }),
        client.assertStoppedLocation('step', { path: source, line: Number(nextLine) }),
    ]);
    const ended = Promise.all([client.waitForEvent('exited'), client.waitForEvent('terminated')]);
    await client.continueRequest({ threadId });
    assert.strictEqual((await ended)[0].body.exitCode, 0);
    await client.stop();
    console.log('the conversation went as VS Code expects');
}

main().catch(error => {
    console.error(error);
    process.exit(1);
});
