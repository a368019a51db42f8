//! rmcp's own client through every door: the same conversation in this process, with the shipped binary on pipes, and
//! over HTTP, as a client with a handshake and as one without.

use std::process::Stdio;

use expect_test::expect_file;
use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, CompletionContext, GetPromptRequestParams,
    ProtocolVersion, ReadResourceRequestParams, Reference,
};
use rmcp::service::{ClientLifecycleMode, Peer, RoleClient, serve_client_with_lifecycle};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, UnixSocketHttpClient};
use serde_json::{Value, json};
use testkit::fixtures::{self, Fixture};
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, normalized, object, run, text};
use crate::web::{Place, Web};

/// How clients begin.
fn lifecycles() -> [ClientLifecycleMode; 2] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions },
    ]
}

async fn call(peer: &Peer<RoleClient>, name: &'static str, arguments: Value) -> String {
    let mut request = CallToolRequestParams::new(name);
    request.arguments = Some(object(arguments));
    text(
        &peer
            .call_tool(request)
            .await
            .expect("every call is answered"),
    )
}

async fn read(peer: &Peer<RoleClient>, uri: &str) -> String {
    let request = ReadResourceRequestParams::new(uri);
    match peer.read_resource(request).await {
        Ok(result) => {
            let value = serde_json::to_value(&result.contents).expect("JSON");
            value[0]["text"].as_str().expect("a text").to_owned()
        }
        Err(error) => format!("!{error}"),
    }
}

async fn complete(peer: &Peer<RoleClient>, hole: &str, value: &str) -> Vec<String> {
    let template = "ndbg://sessions/{session}/value/{expression}";
    let argument = rmcp::model::ArgumentInfo::new(hole, value);
    let others = [("session".to_owned(), "s1".to_owned())].into();
    let request = CompleteRequestParams::new(Reference::for_resource(template), argument)
        .with_context(CompletionContext::with_arguments(others));
    let result = peer.complete(request).await.expect("answered");
    result.completion.values
}

/// Everything a client can ask for, once.
async fn conversation(peer: &Peer<RoleClient>) -> String {
    let mut said = String::new();
    let tools = peer.list_all_tools().await.expect("a list").len();
    said += if tools >= 30 {
        "tools\n"
    } else {
        "few tools\n"
    };
    let stopped = call(peer, "debug_launch", json!({"program": dll("throws")})).await;
    said += &format!("launched: {}\n", stopped.lines().next().expect("a line"));
    let resources = peer.list_all_resources().await.expect("a list");
    let templates = peer.list_all_resource_templates().await.expect("a list");
    let prompts = peer.list_all_prompts().await.expect("a list");
    for resource in &resources {
        said += &format!("resource {}: {}\n", resource.name, resource.uri);
    }
    for template in &templates {
        said += &format!("template {}: {}\n", template.name, template.uri_template);
    }
    for prompt in &prompts {
        said += &format!("prompt {}\n", prompt.name);
    }
    let source = Fixture::named("throws").sources()[0].display().to_string();
    for uri in [
        "ndbg://sessions",
        "ndbg://sessions/s1/breakpoints",
        "ndbg://sessions/s1/value/id%20*%2021",
        "ndbg://sessions/s1/value/nothing",
        "ndbg://sessions/s9",
        "ndbg://sessions/s1/source//etc/passwd",
        "file:///etc/passwd",
    ] {
        said += &format!("{uri}\n{}\n", read(peer, uri).await);
    }
    let told = read(peer, &format!("ndbg://sessions/s1/source/{source}")).await;
    assert_eq!(told, std::fs::read_to_string(&source).expect("the source"));
    assert_eq!(
        told,
        read(peer, "ndbg://sessions/s1/source/throws.cs").await
    );
    said += &format!("sessions: {:?}\n", complete(peer, "session", "s").await);
    said += &format!(
        "names: {:?}\n",
        complete(peer, "expression", "1 + inn").await
    );
    said += &format!(
        "members: {:?}\n",
        complete(peer, "expression", "inner.Mess").await
    );
    let mut request = GetPromptRequestParams::new("find_hang");
    request.arguments = Some(object(json!({"process": "4711"})));
    let prompt = peer.get_prompt(request).await.expect("a prompt");
    let prompt = serde_json::to_value(&prompt.messages[0].content).expect("JSON");
    assert!(
        prompt["text"]
            .as_str()
            .is_some_and(|text| text.contains("Process: 4711"))
    );
    let unfit = peer
        .get_prompt(GetPromptRequestParams::new("find_hang"))
        .await;
    said += &format!("without its argument: {}\n", unfit.expect_err("refused"));
    let ended = call(peer, "debug_disconnect", json!({})).await;
    said += &format!("ended: {}\n", ended.lines().next().expect("a line"));
    said
}

fn check(said: &str, sandbox: &Sandbox) {
    let folder = sandbox.folder().display().to_string();
    // The number for "not found" is another one since 2026-07-28.
    let said = normalized(said, &folder).replace("-32002", "-32602");
    // A file, because three tests share it.
    expect_file!["clients.txt"].assert_eq(&said);
}

#[test]
fn in_process() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let said = conversation(&agent.connection).await;
        check(&said, &sandbox);
        agent.close().await;
    });
}

#[test]
fn the_binary_on_pipes() {
    for lifecycle in lifecycles() {
        let sandbox = Sandbox::new();
        run(async {
            let mut command = tokio::process::Command::new(fixtures::ndbg());
            command.arg("mcp").envs(fixtures::dotnet_environment());
            sandbox.adopt(command.as_std_mut());
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("ndbg starts");
            let pipes = (
                child.stdout.take().expect("piped"),
                child.stdin.take().expect("piped"),
            );
            let client = serve_client_with_lifecycle((), pipes, lifecycle)
                .await
                .expect("the server answers");
            let said = conversation(&client).await;
            check(&said, &sandbox);
            client.cancel().await.expect("closed");
            let ended = tokio::time::timeout(testkit::PATIENCE, child.wait()).await;
            let status = ended.expect("in time").expect("its end");
            assert_eq!(status.code(), Some(0));
        });
    }
}

#[test]
fn the_binary_over_http() {
    for lifecycle in lifecycles() {
        let sandbox = Sandbox::new();
        let web = Web::on_socket(&sandbox);
        let Place::Socket(path) = &web.place else {
            panic!("a socket was asked for");
        };
        let url = "http://localhost/mcp";
        let client = UnixSocketHttpClient::new(path.to_str().expect("UTF-8"), url);
        let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(&web.token);
        run(async {
            let transport = StreamableHttpClientTransport::with_client(client, config);
            let client = serve_client_with_lifecycle((), transport, lifecycle)
                .await
                .expect("the server answers");
            let said = conversation(&client).await;
            check(&said, &sandbox);
            client.cancel().await.expect("closed");
        });
    }
}
