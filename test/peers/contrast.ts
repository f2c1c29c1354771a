/** Texts whose contrast to their background is below 4.5, or below 3 if they are large (WCAG 2.2, 1.4.3). */
export const LOW_CONTRAST_TEXTS = `(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.slice(0, 3).map((it) => it / 255).map((it) => it <= 0.03928 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches;
  const backgrounds = new Map([[null, dark ? [18, 18, 18] : [255, 255, 255]]]);
  const backgroundOf = (element) => {
    if (!backgrounds.has(element)) {
      const below = backgroundOf(element.parentElement);
      const [red, green, blue, alpha = 1] = parts(getComputedStyle(element).backgroundColor);
      backgrounds.set(element, [red, green, blue].map((it, i) => it * alpha + below[i] * (1 - alpha)));
    }
    return backgrounds.get(element);
  };
  const lowContrastTexts = new Set();
  for (const element of document.body.querySelectorAll("*")) {
    const text = [...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()).join("");
    if (text === "" || element.getClientRects().length === 0 || element.closest("noscript, script, style")) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const [a, b] = [luminance(parts(color)), luminance(backgroundOf(element))].sort((x, y) => y - x);
    const size = parseFloat(fontSize);
    const minimum = size >= 24 || (size >= 18.6 && fontWeight >= 700) ? 3 : 4.5;
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < minimum) lowContrastTexts.add(element.localName + "." + element.className + " " + ratio.toFixed(1) + " " + text.slice(0, 20));
  }
  return [...lowContrastTexts].slice(0, 20);
})()`;
