import process from "node:process";

/** The warning of Node versions that call their SQLite experimental; it is of no use to users of a command. */
const EXPERIMENTAL_SQLITE = /^SQLite is an experimental feature/;

let loading: Promise<typeof import("node:sqlite")> | undefined;

/**
 * The runtime's SQLite, loaded without its warning; all other warnings are shown.
 * @throws {Error} the runtime has none
 */
export function nodeSqlite(): Promise<typeof import("node:sqlite")> {
  loading ??= withoutWarning(() => import("node:sqlite"));
  return loading;
}

/** Runs this with a filter for one warning: Node emits it once, while it loads the module. */
async function withoutWarning<T>(load: () => Promise<T>): Promise<T> {
  const emitWarning = process.emitWarning;
  const filtered = (...args: unknown[]): void => {
    const [warning] = args;
    const text = warning instanceof Error ? warning.message : String(warning);
    if (!EXPERIMENTAL_SQLITE.test(text)) Reflect.apply(emitWarning, process, args);
  };
  process.emitWarning = filtered;
  try {
    return await load();
  } finally {
    if (process.emitWarning === filtered) process.emitWarning = emitWarning;
  }
}
