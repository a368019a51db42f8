;;; Drives `ndbg dap' from Emacs with dap-mode: launch, breakpoint, step, look, end.  -*- lexical-binding: t -*-
;; Variables of the environment: NDBG, PROGRAM, SOURCE, LINE (of the breakpoint), NEXT_LINE.

(require 'cl-lib)
(require 'dap-mode)
;; dap-mode reads it, and leaves it to its user interface to define it.
(defvar dap-exception-breakpoints nil)

(setq dap-auto-configure-features nil
      dap-auto-show-output nil
      dap-breakpoints-file "~/breakpoints"
      lsp-session-file "~/session")

(defvar test-stops 0 "How often the program stopped and its position was shown.")
(defvar test-ended nil "Whether the program has ended.")
(add-hook 'dap-stack-frame-changed-hook (lambda (_) (cl-incf test-stops)))
(add-hook 'dap-terminated-hook (lambda (_) (setq test-ended t)))

(defun test-await (what done)
  "Wait until DONE says so; WHAT is told if it does not."
  (let ((end (+ (float-time) 60)))
    (while (not (funcall done))
      (when (> (float-time) end) (error "Waited in vain for %s" what))
      (accept-process-output nil 0.02))))

(defun test-equal (what expected actual)
  "Complain unless EXPECTED is ACTUAL, naming WHAT."
  (unless (equal expected actual) (error "%s: %S, not %S" what actual expected)))

(defun test-line ()
  "The line that the editor shows as the next to run."
  (gethash "line" (dap--debug-session-active-frame (dap--cur-session))))

(defun test-ask (command &rest arguments)
  "Send a request COMMAND with ARGUMENTS and wait for the body of its answer."
  (let (answer)
    (dap--send-message (dap--make-request command arguments)
                       (lambda (it) (setq answer it))
                       (dap--cur-session))
    (test-await command (lambda () answer))
    (unless (gethash "success" answer) (error "%s: %s" command (gethash "message" answer)))
    (gethash "body" answer)))

(let ((line (string-to-number (getenv "LINE")))
      (next (string-to-number (getenv "NEXT_LINE"))))
  (find-file (getenv "SOURCE"))
  (goto-char (point-min))
  (forward-line (1- line))
  (dap-breakpoint-toggle)
  (dap-start-debugging-noexpand
   (list :name "test" :type "coreclr" :request "launch"
         :dap-server-path (list (getenv "NDBG") "dap")
         :program (getenv "PROGRAM") :args ["one" "two"] :console "internalConsole"))
  (test-await "the breakpoint" (lambda () (= test-stops 1)))
  (test-equal "the line of the breakpoint" line (test-line))
  (test-equal "the file" (getenv "SOURCE") (buffer-file-name (window-buffer)))
  (let* ((frame (gethash "id" (dap--debug-session-active-frame (dap--cur-session))))
         (value (test-ask "evaluate" :expression "args.Length + 1" :frameId frame :context "watch")))
    (test-equal "a watch" "3" (gethash "result" value)))
  (dap-next (dap--cur-session))
  (test-await "the step" (lambda () (= test-stops 2)))
  (test-equal "the line behind the step" next (test-line))
  (dap-continue (dap--cur-session) (dap--debug-session-thread-id (dap--cur-session)))
  (test-await "the end" (lambda () test-ended))
  (princ "the conversation went as Emacs expects\n"))
