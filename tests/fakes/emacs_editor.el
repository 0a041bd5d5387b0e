;;; An editor without a screen: Emacs with acp.el. It asks one question about a file that it holds
;;; unsaved, allows what it is asked about, and prints what it saw as JSON.
;;; Environment: PROGRAM (the agent, its arguments separated by newlines), PROJECT, FILE, QUESTION.

(require 'acp)
(require 'json)
(require 'map)

(defvar seen-updates nil)
(defvar seen-permissions nil)
(defvar answer nil)

(let* ((command (split-string (getenv "PROGRAM") "\n"))
       (buffer (find-file-noselect (getenv "FILE")))
       (client (acp-make-client :command (car command) :command-params (cdr command)
                                :context-buffer buffer)))
  (with-current-buffer buffer
    (goto-char (point-max))
    (insert "# typed, not saved\n"))
  (acp-subscribe-to-notifications
   :client client
   :on-notification
   (lambda (message)
     (push (map-nested-elt message '(params update sessionUpdate)) seen-updates)
     (when (equal (map-nested-elt message '(params update sessionUpdate)) "agent_message_chunk")
       (setq answer (concat answer (map-nested-elt message '(params update content text)))))))
  (acp-subscribe-to-requests
   :client client
   :on-request
   (lambda (message)
     (let ((id (map-elt message 'id)))
       (pcase (map-elt message 'method)
         ("fs/read_text_file"
          (acp-send-response
           :client client
           :response (acp-make-fs-read-text-file-response
                      :request-id id
                      :content (with-current-buffer buffer
                                 (buffer-substring-no-properties (point-min) (point-max))))))
         ("fs/write_text_file"
          (with-current-buffer buffer
            (erase-buffer)
            (insert (map-nested-elt message '(params content)))
            (save-buffer))
          (acp-send-response
           :client client :response (acp-make-fs-write-text-file-response :request-id id)))
         ("session/request_permission"
          (let ((option (aref (map-nested-elt message '(params options)) 0)))
            (push (map-elt option 'kind) seen-permissions)
            (acp-send-response
             :client client
             :response (acp-make-session-request-permission-response
                        :request-id id :option-id (map-elt option 'optionId)))))))))
  (acp-send-request
   :client client :sync t
   :request (acp-make-initialize-request
             :protocol-version 1 :read-text-file-capability t :write-text-file-capability t))
  (let* ((opened (acp-send-request
                  :client client :sync t
                  :request (acp-make-session-new-request :cwd (getenv "PROJECT"))))
         (session (map-elt opened 'sessionId))
         (ended (acp-send-request
                 :client client :sync t
                 :request (acp-make-session-prompt-request
                           :session-id session
                           :prompt (vector `((type . "text") (text . ,(getenv "QUESTION"))))))))
    (princ (json-encode `((stop . ,(map-elt ended 'stopReason))
                          (answer . ,answer)
                          (permissions . ,(vconcat (reverse seen-permissions)))
                          (updates . ,(vconcat (reverse seen-updates)))))))
  (acp-shutdown :client client))
