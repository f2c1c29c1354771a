import type { QrModules } from "./qr-modules.ts";

/** Light modules around the code; ISO/IEC 18004 requires four, scanners need fewer. */
const QUIET_ZONE = 2;

/**
 * A QR code as lines of half blocks, two modules high each.
 * @param colours black on white, whatever the colours of the terminal; otherwise light modules are drawn, which is
 * right on a dark terminal
 */
export function terminalQr({ size, isDark }: QrModules, { colours }: { colours: boolean }): string[] {
  const light = (row: number, column: number): boolean =>
    row < 0 || column < 0 || row >= size || column >= size || !isDark(row, column);

  const lines: string[] = [];
  for (let row = -QUIET_ZONE; row < size + QUIET_ZONE; row += 2) {
    let line = "";
    for (let column = -QUIET_ZONE; column < size + QUIET_ZONE; column++) {
      const below = row + 1 < size + QUIET_ZONE && light(row + 1, column);
      line += HALF_BLOCKS[(light(row, column) ? 2 : 0) + (below ? 1 : 0)];
    }
    lines.push(colours ? `\x1b[97;40m${line}\x1b[0m` : line);
  }
  return lines;
}

/** Dark, light below, light above, light. */
const HALF_BLOCKS = [" ", "▄", "▀", "█"];
