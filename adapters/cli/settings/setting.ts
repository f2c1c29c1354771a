import type { Parser } from "./parsers.ts";

/** A server setting. */
export interface Setting<Option extends string = string> {
  /** Path of the option in `RingportOptions`, or a server setting such as `port`. */
  readonly option: Option;
  /** The environment variable. */
  readonly env: string;
  /**
   * The flag, without its dashes; undefined for secrets: every user of the machine could read them in the process list.
   */
  readonly flag: string | undefined;
  readonly parser: Parser<unknown>;
  /** Shown as the default. */
  readonly fallback: string;
  readonly help: string;
  /** True if the value must never be shown. */
  readonly secret?: boolean;
}

/** A setting whose flag is spelled like its variable, unless `overrides` has another. */
export function setting<const Option extends string>(
  option: Option,
  env: string,
  parser: Parser<unknown>,
  fallback: string,
  help: string,
  overrides: { flag?: string | undefined; secret?: boolean } = {},
): Setting<Option> {
  const flag =
    "flag" in overrides
      ? overrides.flag
      : env
          .replace(/^RINGPORT_/, "")
          .toLowerCase()
          .replaceAll("_", "-");
  return { option, env, flag, parser, fallback, help, ...(overrides.secret ? { secret: true } : {}) };
}

/** Properties of a setting that holds a secret. */
export const HIDDEN = { flag: undefined, secret: true } as const;
