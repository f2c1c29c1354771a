import type { QrModules } from "./qr-modules.ts";

/** Width of the light margin around the code, modules; ISO/IEC 18004 requires four, but scanners need fewer. */
const QUIET_ZONE = 2;

/**
 * A QR code as lines of half blocks, each two modules high.
 * @param colours true for black on white, regardless of the terminal's colours; false draws the light modules in the
 * text colour, for a dark terminal
 */
export function terminalQr({ size, isDark }: QrModules, { colours }: { colours: boolean }): string[] {
  const isLight = (row: number, column: number): boolean =>
    row < 0 || column < 0 || row >= size || column >= size || !isDark(row, column);

  const lines: string[] = [];
  for (let row = -QUIET_ZONE; row < size + QUIET_ZONE; row += 2) {
    let line = "";
    for (let column = -QUIET_ZONE; column < size + QUIET_ZONE; column++) {
      const isLightBelow = row + 1 < size + QUIET_ZONE && isLight(row + 1, column);
      line += HALF_BLOCKS[(isLight(row, column) ? 2 : 0) + (isLightBelow ? 1 : 0)];
    }
    lines.push(colours ? `\x1b[97;40m${line}\x1b[0m` : line);
  }
  return lines;
}

/** Dark, light below, light above, light. */
const HALF_BLOCKS = [" ", "▄", "▀", "█"];
