/** Characters that leave no mark: spaces, controls, formats, lone surrogates, fillers, and two blank glyphs. */
const INVISIBLE = String.raw`\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}\u{1d159}`;
const VISIBLE_CHARACTER = new RegExp(`[^${INVISIBLE}]`, "u");

/**
 * True if a text has a visible character. Every name must have one: people cannot choose or check an invisible name.
 */
export function isVisible(text: string): boolean {
  return VISIBLE_CHARACTER.test(text);
}
