// Shows what `ragforge` knows about the code in the editor. Each answer is the output of one command.

import { execFile } from "node:child_process";
import * as path from "node:path";
import * as vscode from "vscode";

const SCHEME = "ragforge";
const MAX_BYTES = 32 * 1024 * 1024;

type Session = { conversation_id: string; title: string | null; agent: string; updated_at: string };
type Hit = {
  type: string;
  conversation_id: string;
  agent: string;
  timestamp: string;
  question?: string;
  answer?: string;
  text?: string;
};

/** Run `ragforge` in the project of the active file, and return what it prints. */
function run(args: string[]): Promise<string> {
  const program = vscode.workspace.getConfiguration("ragforge").get("command", "ragforge");
  const file = vscode.window.activeTextEditor?.document.uri;
  const folder = (file && vscode.workspace.getWorkspaceFolder(file)) ?? vscode.workspace.workspaceFolders?.[0];
  if (!folder) {
    return Promise.reject(new Error("Open a folder first: RagForge remembers sessions by project."));
  }
  const options = { cwd: folder.uri.fsPath, maxBuffer: MAX_BYTES };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) {
        resolve(stdout);
      } else if (error.code === "ENOENT") {
        reject(new Error(`${program} was not found. Set ragforge.command to its full path.`));
      } else {
        reject(new Error(stderr.trim() || error.message));
      }
    });
  });
}

/** The sessions that touched the file in the active editor. */
class Sessions implements vscode.TreeDataProvider<Session> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private file = "";

  /** Show the sessions of the active file; those of the last one while something else is active. */
  follow(editor: vscode.TextEditor | undefined): void {
    const uri = editor?.document.uri;
    if (uri?.scheme === "file" && uri.fsPath !== this.file) {
      this.file = uri.fsPath;
      this.changed.fire();
    }
  }

  async getChildren(): Promise<Session[]> {
    return this.file ? JSON.parse(await run(["sessions", "about", "--json", "--", this.file])).sessions : [];
  }

  getTreeItem(session: Session): vscode.TreeItem {
    const item = new vscode.TreeItem(session.title ?? "no title");
    item.description = `${session.agent}, ${session.updated_at.slice(0, 10)}`;
    item.command = { command: "ragforge.open", title: "Open", arguments: [session.conversation_id] };
    return item;
  }
}

/** Texts of read-only editors by their address: a link to such an address runs no command. */
const texts = new Map<string, string>();

/** Show the output of a command in a read-only editor. */
async function show(title: string, args: string[]): Promise<void> {
  const uri = vscode.Uri.from({ scheme: SCHEME, path: title, query: `${texts.size}` });
  texts.set(uri.toString(), await run(args));
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
}

function open(id: string): Promise<void> {
  return show(`session ${id.slice(0, 8)}`, ["sessions", "show", id]);
}

/** Show the sessions that touched the function at the cursor, or else the file. */
async function why(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return;
  }
  const word = editor.document.getWordRangeAtPosition(editor.selection.active);
  const file = editor.document.uri.fsPath;
  const subject = word ? editor.document.getText(word) : file;
  await show(`why ${path.basename(subject)}`, ["sessions", "about", "--", subject]);
}

/** Search past turns and notes, and open the session of the one that is picked. */
async function search(): Promise<void> {
  const query = await vscode.window.showInputBox({ prompt: "Search memory" });
  if (!query) {
    return;
  }
  const said = await run(["search", "--in", "memory", "--json", "--", query]);
  const hits = (JSON.parse(said).hits as Hit[]).filter((hit) => hit.conversation_id);
  const items = hits.map((hit) => ({
    label: hit.question ?? hit.text ?? hit.type,
    description: `${hit.agent}, ${hit.timestamp.slice(0, 10)}`,
    detail: hit.answer,
    alwaysShow: true,
    id: hit.conversation_id,
  }));
  const placeHolder = items.length ? "Open a session" : "Nothing was found.";
  const picked = await vscode.window.showQuickPick(items, { placeHolder });
  if (picked) {
    await open(picked.id);
  }
}

/** Report what fails as a message; `ragforge` says what to do next. */
function reported<A extends unknown[]>(action: (...given: A) => Promise<void>): (...given: A) => Promise<void> {
  return async (...given) => {
    try {
      await action(...given);
    } catch (error) {
      void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    }
  };
}

export function activate(context: vscode.ExtensionContext): void {
  const sessions = new Sessions();
  sessions.follow(vscode.window.activeTextEditor);
  context.subscriptions.push(
    vscode.window.registerTreeDataProvider("ragforge.sessions", sessions),
    vscode.window.onDidChangeActiveTextEditor((editor) => sessions.follow(editor)),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? "",
    }),
    vscode.commands.registerCommand("ragforge.open", reported(open)),
    vscode.commands.registerCommand("ragforge.why", reported(why)),
    vscode.commands.registerCommand("ragforge.search", reported(search)),
  );
}
