import { type ReadonlySignal, signal } from "@preact/signals";
import { type ColumnChoice, type CsvPreview, columnMeanings, columnOf, csvPreview, withHeader } from "./csv-preview.ts";

/** A file to import, with the names of its columns. */
export interface ChosenFile {
  readonly file: Blob;
  readonly columns: ColumnChoice;
}

/** The list of people that the user has chosen. */
export class ChosenList {
  readonly #list = signal<{ readonly name: string; readonly file: Blob; readonly preview: CsvPreview } | undefined>(
    undefined,
  );
  readonly #isUnreadable = signal(false);
  readonly #choice = signal<ColumnChoice>({});

  get list(): ReadonlySignal<{ readonly name: string; readonly preview: CsvPreview } | undefined> {
    return this.#list;
  }

  /** True if the last file was not a table. */
  get isUnreadable(): ReadonlySignal<boolean> {
    return this.#isUnreadable;
  }

  get choice(): ReadonlySignal<ColumnChoice> {
    return this.#choice;
  }

  /** Reads the first rows of a file. */
  async open(name: string, source: Blob): Promise<void> {
    this.#choice.value = {};
    try {
      const file = await withHeader(source);
      const preview = await csvPreview(file);
      this.#list.value = preview && { name, file, preview };
      this.#isUnreadable.value = preview === undefined && source.size > 0;
    } catch {
      this.#list.value = undefined;
      this.#isUnreadable.value = true; // the file has been moved or deleted in the meantime
    }
  }

  choose(change: ColumnChoice): void {
    this.#choice.value = { ...this.#choice.value, ...change };
  }

  /** Chooses the column of a variable; it is no longer the column of another one. */
  chooseVariable(variable: string, column: string): void {
    const earlier = Object.entries(this.#choice.value.variableColumns ?? {}).filter(([, other]) => other !== column);
    this.choose({ variableColumns: { ...Object.fromEntries(earlier), [variable]: column } });
  }

  clear(): void {
    this.#list.value = undefined;
    this.#isUnreadable.value = false;
  }

  /**
   * The file with the names of its columns; undefined without one, or if no column has the numbers.
   * @param variables of the message
   */
  fileFor(variables: readonly string[]): ChosenFile | undefined {
    const list = this.#list.value;
    const choice = this.#choice.value;
    // The server reports a variable that two columns have.
    const meanings =
      list && (columnMeanings(list.preview, choice, variables) ?? columnMeanings(list.preview, choice, []));
    if (!meanings) return undefined;
    const columns = {
      phone: columnOf(list.preview, meanings, "phone"),
      reference: columnOf(list.preview, meanings, "reference"),
      variableColumns: choice.variableColumns,
    };
    return { file: list.file, columns };
  }
}
