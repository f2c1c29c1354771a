/** The log, for operators. Loggers such as `pino` implement it directly. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}
/** Fields of a log message: ids, names, numbers and errors, never secrets. */
export type LogFields = { readonly [key: string]: unknown };

/** Logs nothing; the default of an embedded Ringport. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
