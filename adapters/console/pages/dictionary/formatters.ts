import { language, locale } from "./language.ts";

// A formatter takes up to a millisecond to make and microseconds to use, and a list uses several for each of its rows.

/** The formatter of the current locale for these options, created once. */
export const dateFormat: (options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat = kept(
  (options) => new Intl.DateTimeFormat(locale(), options),
);

/** The same for numbers. */
export const numberFormat: (options?: Intl.NumberFormatOptions) => Intl.NumberFormat = kept(
  (options) => new Intl.NumberFormat(locale(), options),
);

/** The same for lengths of time from now. */
export const relativeFormat: (options: Intl.RelativeTimeFormatOptions) => Intl.RelativeTimeFormat = kept(
  (options) => new Intl.RelativeTimeFormat(locale(), options),
);

/** The plural rules of the language of the page. */
export const pluralRules: () => Intl.PluralRules = kept(() => new Intl.PluralRules(language.value));

function kept<Options, Formatter>(make: (options?: Options) => Formatter): (options?: Options) => Formatter {
  const made = new Map<string, Formatter>();
  return (options) => {
    const key = `${language.value} ${locale()} ${JSON.stringify(options)}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const formatter = make(options);
    made.set(key, formatter);
    return formatter;
  };
}
