-- Neovim 0.11 or later: a part of init.lua, or ~/.config/nvim/plugin/hlotool.lua
vim.filetype.add({
  extension = { hlo = "hlo", mlir = "mlir" },
  pattern = {
    [".*%.hlo%.txt"] = "hlo",
    -- Dumps of XLA, told by their first word.
    [".*%.txt"] = function(_, buffer)
      local first = vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1] or ""
      return first:match("^HloModule%s") and "hlo" or nil
    end,
  },
})
vim.api.nvim_create_autocmd("FileType", {
  pattern = "hlo",
  callback = function() vim.bo.commentstring = "// %s" end,
})
vim.lsp.config("hlotool", { cmd = { @COMMAND@, "lsp" }, filetypes = { "hlo", "mlir" } })
vim.lsp.enable("hlotool")
