/** The first match wins: most browsers also claim to be others. */
const BROWSERS = [
  ["Edge", /\bEdgA?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:(?:Headless)?Chrome|CriOS)\//],
  ["Safari", /\bVersion\/[\d.]+ .*Safari\//],
] as const;

const SYSTEMS = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
] as const;

/** The browser and the system named in a User-Agent header; undefined if unknown. */
export function browserOf(userAgent: string): {
  readonly browser: string | undefined;
  readonly system: string | undefined;
} {
  return {
    browser: BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0],
    system: SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0],
  };
}
