import process from "node:process";

/** Error codes that only mean that no server is running. */
const CONNECTION_REFUSED = ["ECONNREFUSED", "ConnectionRefused"];

/** The error text for a server that is not running. */
export function unreachableText(url: string, error: unknown): string {
  const cause = mostSpecificCode(error);
  const detail = cause === undefined || CONNECTION_REFUSED.includes(cause) ? "" : ` (${cause})`;
  return `no server responds at ${url}${detail}; start one with: ${startCommand()} (or set RINGPORT_URL)`;
}

/** The most specific code of an error. */
function mostSpecificCode(error: unknown): string | undefined {
  let code: string | undefined;
  for (
    let current = error as { name?: string; code?: unknown; cause?: unknown } | undefined;
    current;
    current = current.cause as typeof current
  )
    if (typeof current.code === "string") code = current.code;
    else if (current.name === "TimeoutError") code = "no response in time";
  return code;
}

/** Command that starts a server: npm in the source tree, otherwise the package's program. */
export function startCommand(): string {
  return /\.ts$/.test(process.argv[1] ?? "") ? "npm start" : "ringport serve";
}
