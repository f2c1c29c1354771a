import { computed, type ReadonlySignal } from "@preact/signals";
import { numberFormat, pluralRules } from "./formatters.ts";
import { type Language, language } from "./language.ts";

/** Texts of one area: plain texts, and functions for texts that contain a value. */
export type Area = { readonly [name: string]: string | ((...values: never[]) => string) | Area };

/** The same texts in another language. A missing or extra text is a compile error. */
export type Texts<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...values: never[]) => string
      ? T[K]
      : Texts<T[K]>;
};

/** The texts of an area in the page's language: `const t = dictionary({ en, pt })`, then `t.value.title`. */
export function dictionary<T extends Area>(
  languages: { readonly en: T } & Readonly<Record<Exclude<Language, "en">, Texts<T>>>,
): ReadonlySignal<Texts<T>> {
  return computed(() => languages[language.value] as Texts<T>);
}

/** `plural(3, { one: "# call", other: "# calls" })` is "3 calls". */
export function plural(count: number, forms: { readonly one: string; readonly other: string }): string {
  const form = pluralRules().select(count) === "one" ? forms.one : forms.other;
  return form.replace("#", numberFormat().format(count));
}
