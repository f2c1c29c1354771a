/**
 * Treatment of a phone number in a column when its person is erased:
 * - `call`: the call is deleted with all of its records.
 * - `link`: the event of a link is deleted once the number is no longer linked to its instance.
 * - `record`: the record of the line is deleted, unless the number is linked to its instance.
 * - `target`: the target of a batch is deleted.
 * - `reported`: the number stays, and its instance is reported, so that it can be deleted.
 * - `kept`: the number stays, for a reason given in `docs/SECURITY.md`.
 * - `none`: the column holds no person's number.
 */
export type NumberPlace = "call" | "link" | "record" | "target" | "reported" | "kept" | "none";

type NumberPlaces = readonly [NumberPlace, ...NumberPlace[]];

/** Representation of a field in a JSON column. */
export interface FieldCodec {
  write(value: never): string;
  read(columnText: string): unknown;
}

/** The column of a field. */
export interface Column {
  readonly name: string;
  readonly kind: "text" | "number" | "json" | "bytes";
  /** Phone numbers in it, see {@link NumberPlace}. */
  readonly numbers: readonly NumberPlace[];
  /** True if a null column is a missing field. */
  readonly isOptional: boolean;
  readonly codec?: FieldCodec;
  /** Value of a null column; used for columns that were added after their rows. */
  readonly fallback?: unknown;
}

interface NamedColumn<Name extends string, Kind extends Column["kind"]> extends Column {
  readonly name: Name;
  readonly kind: Kind;
  readonly isOptional: false;
}

/** A text. @param numbers treatment of phone numbers in it */
export function text<const Name extends string>(name: Name, ...numbers: NumberPlaces): NamedColumn<Name, "text"> {
  return { name, kind: "text", numbers, isOptional: false };
}

/** A number or a time. */
export function number<const Name extends string>(name: Name): NamedColumn<Name, "number"> {
  return { name, kind: "number", numbers: ["none"], isOptional: false };
}

/**
 * A value as JSON, which may include characters that PostgreSQL cannot store in text.
 * @param numbers treatment of phone numbers in it
 */
export function json<const Name extends string>(name: Name, ...numbers: NumberPlaces): NamedColumn<Name, "json"> {
  return { name, kind: "json", numbers, isOptional: false };
}

/** Encrypted bytes. */
export function bytes<const Name extends string>(name: Name): NamedColumn<Name, "bytes"> {
  return { name, kind: "bytes", numbers: ["none"], isOptional: false };
}

/** The column of an optional field. */
export function optional<const C extends Column>(column: C): Omit<C, "isOptional"> & { readonly isOptional: true } {
  return { ...column, isOptional: true };
}

type KindOf<Value> = Value extends number
  ? "number"
  : Value extends string
    ? "text" | "json"
    : Value extends Uint8Array
      ? "bytes"
      : "json";

/** A column that can hold a field of this type. */
interface ColumnOf<Value> extends Column {
  readonly kind: KindOf<NonNullable<Value>>;
  readonly isOptional: undefined extends Value ? true : false;
}

type Columns<Rec> = { readonly [Field in keyof Rec]-?: ColumnOf<Rec[Field]> };

type ColumnValue<Value, C extends Column> =
  | (C["kind"] extends "json" ? string : NonNullable<Value>)
  | (Value extends null | undefined ? null : never);

/** A row with the columns of a record. */
type RowOf<Rec, Cs extends Columns<Rec>> = {
  -readonly [Field in keyof Rec as Cs[Field]["name"]]-?: ColumnValue<Rec[Field], Cs[Field]>;
};

/** The mapping between a record and its columns: the only place that defines how each field is stored. */
interface StoredRecord<Rec, Row, Cs = unknown> {
  /** The column of each field. */
  readonly columns: Cs;
  /** Places of phone numbers, by column. */
  readonly numbers: { readonly [Name in keyof Row]: readonly NumberPlace[] };
  row(record: Rec): Row;
  /** The columns that a patch changes: one for each field that is not undefined. */
  changes(patch: Partial<Rec>): Partial<Row>;
  record(row: Row): Rec;
}

/** Row type of a {@link StoredRecord}. */
export type StoredRow<Mapping extends { row(record: never): unknown }> = ReturnType<Mapping["row"]>;

/** Describes a record by its columns. A field without a column does not compile. */
export function storedRecord<Rec extends object>(): <const Cs extends Columns<Rec>>(
  columns: Cs,
) => StoredRecord<Rec, RowOf<Rec, Cs>, Cs> {
  return <const Cs extends Columns<Rec>>(definitions: Cs) => {
    type Row = RowOf<Rec, Cs>;
    const fields = Object.entries<Column>(definitions);
    return {
      columns: definitions,
      numbers: Object.fromEntries(fields.map(([, { name, numbers }]) => [name, numbers])) as StoredRecord<
        Rec,
        Row
      >["numbers"],
      row: (record) => toRow(fields, record, true) as Row,
      changes: (patch) => toRow(fields, patch, false) as Partial<Row>,
      record: (row) => toRecord(fields, row) as Rec,
    };
  };
}

const PLAIN_JSON: FieldCodec = { write: JSON.stringify, read: JSON.parse };

type Values = Record<string, unknown>;
type Fields = readonly (readonly [field: string, column: Column])[];

function toRow(fields: Fields, record: object, isComplete: boolean): Values {
  const row: Values = {};
  for (const [field, { name, kind, codec = PLAIN_JSON }] of fields) {
    const value = (record as Values)[field];
    if (value === undefined && !isComplete) continue;
    if (value === undefined || value === null) row[name] = null;
    else row[name] = kind === "json" ? codec.write(value as never) : value;
  }
  return row;
}

function toRecord(fields: Fields, row: object): Values {
  const record: Values = {};
  for (const [field, { name, kind, isOptional, codec = PLAIN_JSON, fallback = null }] of fields) {
    const value = (row as Values)[name];
    if (value === null) {
      if (!isOptional) record[field] = fallback;
    } else if (kind === "json") record[field] = codec.read(value as string);
    // pg returns a Buffer, which is a view into a larger buffer.
    else record[field] = kind === "bytes" ? new Uint8Array(value as Uint8Array) : value;
  }
  return record;
}
