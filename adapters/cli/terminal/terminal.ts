import process from "node:process";

/** Prints a line for programs and people to read. */
export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a line to stderr: hints, logs, errors. */
export function printToStderr(line: string): void {
  process.stderr.write(`${coloursAllowed(process.stderr) ? line : withoutColours(line)}\n`);
}

/** Prints one JSON document. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Prints one line of a stream of JSON documents. */
export function printJsonLine(value: unknown): void {
  print(JSON.stringify(value));
}

/** True if the output is a terminal. */
export function isTerminal(): boolean {
  return process.stdout.isTTY === true;
}

/** Number of columns of the terminal; unlimited without a terminal. */
export function terminalColumns(): number {
  return isTerminal() ? process.stdout.columns || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY;
}

/** Number of columns if the terminal's width is unknown, and for piped help. */
export const DEFAULT_COLUMNS = 80;

/** True if a stream is a terminal that allows colours (https://no-color.org). */
export function coloursAllowed(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR;
}

/** Colours text: bold, dim, red, green, yellow, cyan. */
export function paint(code: 1 | 2 | 31 | 32 | 33 | 36, text: string): string {
  return coloursAllowed(process.stdout) ? `\x1b[${code}m${text}\x1b[0m` : text;
}

/** A line without its colour codes. */
export function withoutColours(line: string): string {
  return line.replace(COLOUR, "");
}

const closedOutput = new AbortController();

/** Fires when the reader closes the output, as in `ringport calls --watch | head -1`. */
export const outputClosed: AbortSignal = closedOutput.signal;

/** Ignores a closed pipe, as in `ringport --help | head -1`. */
export function tolerateBrokenPipes(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: { code?: string }) => {
      if (error.code !== "EPIPE") throw error;
      if (stream === process.stdout) closedOutput.abort();
    });
}

/** Resolves when all output has been handed to the operating system. */
export async function flushOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => {
      stream.write("", () => resolve());
    });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
const COLOUR = /\x1b\[[\d;]*m/g;
