import { language, locale } from "./language.ts";

// Creating a formatter takes up to a millisecond, and using one takes microseconds; a list uses several per row.

/** The current locale's formatter for these options, created once. */
export const dateFormat: (options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat = memoized(
  (options) => new Intl.DateTimeFormat(locale(), options),
);

/** The current locale's number formatter for these options, created once. */
export const numberFormat: (options?: Intl.NumberFormatOptions) => Intl.NumberFormat = memoized(
  (options) => new Intl.NumberFormat(locale(), options),
);

/** The current locale's formatter for relative times with these options, created once. */
export const relativeFormat: (options: Intl.RelativeTimeFormatOptions) => Intl.RelativeTimeFormat = memoized(
  (options) => new Intl.RelativeTimeFormat(locale(), options),
);

/** The plural rules of the page's language. */
export const pluralRules: () => Intl.PluralRules = memoized(() => new Intl.PluralRules(language.value));

function memoized<Options, Formatter>(make: (options?: Options) => Formatter): (options?: Options) => Formatter {
  const formatters = new Map<string, Formatter>();
  return (options) => {
    const key = `${language.value} ${locale()} ${JSON.stringify(options)}`;
    const existing = formatters.get(key);
    if (existing !== undefined) return existing;
    const formatter = make(options);
    formatters.set(key, formatter);
    return formatter;
  };
}
