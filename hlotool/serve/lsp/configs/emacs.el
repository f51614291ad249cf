;; Emacs 29 or later, or an earlier one with the package eglot: a part of init.el
(define-derived-mode hlo-mode prog-mode "HLO"
  "HLO, the text of XLA's modules."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (modify-syntax-entry ?/ ". 124b" hlo-mode-syntax-table)
  (modify-syntax-entry ?* ". 23" hlo-mode-syntax-table)
  (modify-syntax-entry ?\n "> b" hlo-mode-syntax-table))
(define-derived-mode hlo-mlir-mode prog-mode "MLIR"
  "StableHLO, where no other mode for MLIR is there."
  (setq-local comment-start "// "))
(add-to-list 'auto-mode-alist '("\\.hlo\\(?:\\.txt\\)?\\'" . hlo-mode))
(add-to-list 'magic-mode-alist '("HloModule[ \t]" . hlo-mode))
(unless (assoc-default "x.mlir" auto-mode-alist #'string-match-p)
  (add-to-list 'auto-mode-alist '("\\.mlir\\'" . hlo-mlir-mode)))
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((hlo-mode hlo-mlir-mode mlir-mode) . (@COMMAND@ "lsp"))))
(dolist (hook '(hlo-mode-hook hlo-mlir-mode-hook mlir-mode-hook))
  (add-hook hook #'eglot-ensure))
