-- Neovim as a client of the language server: with the settings of the guide, it opens a text and writes down what its own
-- client gets. Files are in the environment: the settings, the text, and where the answers go. Functions are those of 0.7.
local function work()
  local answers = {}
  dofile(vim.env.POCKETGPU_SETTINGS)
  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.POCKETGPU_TEXT))
  local buffer = vim.api.nvim_get_current_buf()
  local function wait_for(holds)
    if not vim.wait(30000, holds, 20) then error("nothing came") end
  end

  wait_for(function() return #vim.diagnostic.get(buffer) > 0 end)
  answers.diagnostics = vim.tbl_map(function(one)
    return { line = one.lnum, column = one.col, end_column = one.end_col, message = one.message }
  end, vim.diagnostic.get(buffer))

  local function ask(method, line, column, more)
    local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
    if line then params.position = { line = line, character = column } end
    local found = vim.lsp.buf_request_sync(buffer, method, vim.tbl_extend("force", params, more or {}), 30000)
    return select(2, next(found)).result
  end

  answers.hover = ask("textDocument/hover", 2, 5).contents.value
  answers.definition = ask("textDocument/definition", 2, 13)[1].range.start
  answers.completion = vim.tbl_map(function(one) return one.label end, ask("textDocument/completion", 2, 4).items)
  local options = { tabSize = 4, insertSpaces = true }
  vim.lsp.util.apply_text_edits(ask("textDocument/formatting", nil, nil, { options = options }), buffer, "utf-16")
  answers.formatted = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

  local file = assert(io.open(vim.env.POCKETGPU_ANSWERS, "w"))
  file:write(vim.fn.json_encode(answers))
  file:close()
end

local ok, problem = pcall(work)
if not ok then io.stderr:write(tostring(problem) .. "\n") end
vim.cmd(ok and "qall!" or "cquit!")
