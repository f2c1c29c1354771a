import { FILE_FAULT_TEXTS } from "../../../../../src/domain/batches/file-fault-texts.ts";

// The server's texts, except those that name request parameters.
export default {
  ...FILE_FAULT_TEXTS,
  format: { ...FILE_FAULT_TEXTS.format, json: "the file is JSON, not a CSV file: export it as CSV" },
  numbers_missing: (columns: string) =>
    `no column has the phone numbers; the columns are ${columns}: choose one of them, or name one phone`,
  numbers_ambiguous: (names: string) => `the columns ${names} may both have the phone numbers: choose one of them`,
  variables_missing: (placeholders: string, columns: string, first: string) =>
    `the message needs ${placeholders}, and no column has that name; the columns are ${columns}: choose one of them, or name one "${first}"`,
};
