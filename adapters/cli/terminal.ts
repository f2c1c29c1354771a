import process from "node:process";

/** Prints a line for programs and people to read. */
export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a line beside the output: hints, logs, errors. */
export function printBeside(line: string): void {
  process.stderr.write(`${coloursAllowed(process.stderr) ? line : line.replace(COLOUR, "")}\n`);
}

/** Whether a stream is a terminal that wants colours (https://no-color.org). */
export function coloursAllowed(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR;
}

/** Where one word is coloured: dim, green, red, bold. */
export function paint(code: 1 | 2 | 31 | 32 | 36, text: string): string {
  return coloursAllowed(process.stdout) ? `\x1b[${code}m${text}\x1b[0m` : text;
}

/** A reader that has gone, as in `ringport --help | head -1`, is no error. */
export function tolerateBrokenPipes(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: { code?: string }) => {
      if (error.code !== "EPIPE") throw error;
    });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const COLOUR = /\x1b\[[\d;]*m/g;
