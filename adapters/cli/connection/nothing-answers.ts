import process from "node:process";

/** Errors that only mean that no server is running. */
const PLAIN = ["ECONNREFUSED", "ConnectionRefused"];

/** The error text for a server that is not running. */
export function nothingAnswers(url: string, error: unknown): string {
  const why = reason(error);
  const detail = why === undefined || PLAIN.includes(why) ? "" : ` (${why})`;
  return `nothing answers at ${url}${detail}; start one with: ${startCommand()} (or set RINGPORT_URL)`;
}

/** The most specific code of an error. */
function reason(error: unknown): string | undefined {
  let found: string | undefined;
  for (let at = error as { name?: string; code?: unknown; cause?: unknown } | undefined; at; at = at.cause as typeof at)
    if (typeof at.code === "string") found = at.code;
    else if (at.name === "TimeoutError") found = "no answer in time";
  return found;
}

/** Command that starts a server: npm in the source tree, otherwise the program of the package. */
function startCommand(): string {
  return /\.ts$/.test(process.argv[1] ?? "") ? "npm start" : "ringport serve";
}
