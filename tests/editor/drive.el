;;; drive.el --- Batch Emacs with dap-mode steps through a shader -*- lexical-binding: t -*-
;; emacs --batch -l drive.el CONFIGURATION PROGRAM: prints a line for each stop, and "done".

(require 'package)
(package-initialize)
(load (pop command-line-args-left))

(defvar drive-program (pop command-line-args-left))
(defvar drive-stops 0)
(defvar drive-ended nil)

(setq dap-auto-configure-features nil
      dap-breakpoints-file (make-temp-name (expand-file-name "breakpoints" temporary-file-directory))
      lsp-session-file (make-temp-name (expand-file-name "session" temporary-file-directory))
      dap-print-io nil)
(dap-mode 1)

(defun drive-until (test)
  "Take what the adapter sends until TEST."
  (let ((left 600))
    (while (and (not (funcall test)) (> left 0))
      (accept-process-output nil 0.1)
      (setq left (1- left)))
    (unless (funcall test) (error "Nothing came"))))

(defun drive-line ()
  "The line of the frame that Emacs has chosen."
  (let ((frame (dap--debug-session-active-frame (dap--cur-session))))
    (and frame (gethash "line" frame))))

(add-hook 'dap-stack-frame-changed-hook
          (lambda (session)
            (when (dap--debug-session-active-frame session)
              (setq drive-stops (1+ drive-stops)))))
(add-hook 'dap-terminated-hook (lambda (_) (setq drive-ended t)))

(defun drive (what command)
  "Call COMMAND, wait for the stop that follows, and print WHAT and the line."
  (let ((before drive-stops))
    (funcall command)
    (drive-until (lambda () (> drive-stops before)))
    (princ (format "%s %s\n" what (drive-line)))))

(find-file drive-program)
(goto-char (point-min))
(forward-line 4)
(dap-breakpoint-add)
(drive "entry"
       (lambda ()
         (dap-debug (list :type "pocketgpu" :request "launch" :name "sums" :source drive-program
                          :inputs (list :v0 [4 1 0 1])
                          :uniforms (list :i0 [1 1 1] :c2 [1 2 3 4])))))
(drive "next" (lambda () (dap-next (dap--cur-session))))
(drive "in" (lambda () (dap-step-in (dap--cur-session))))
(drive "out" (lambda () (dap-step-out (dap--cur-session))))
(drive "continue" (lambda () (dap-continue (dap--cur-session) 1)))
(let (value)
  (dap--send-message
   (dap--make-request "evaluate" (list :expression "r0.xy" :frameId 4096))
   (lambda (answer) (setq value (gethash "result" (gethash "body" answer))))
   (dap--cur-session))
  (drive-until (lambda () value))
  (princ (format "r0.xy %s\n" value)))
(drive "back" (lambda ()
                (dap--send-message (dap--make-request "stepBack" (list :threadId 1)) #'ignore (dap--cur-session))))
(dap-disconnect (dap--cur-session))
(princ "done\n")
;;; drive.el ends here
