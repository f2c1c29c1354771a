/** Where the program tells an operator what it does. `pino` and the like fit this shape as they are. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}
/** What a line of the log is about; ids, names, numbers and errors, never secrets. */
export type LogFields = { readonly [key: string]: unknown };

/** Says nothing; the default of an embedded Ringport. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
