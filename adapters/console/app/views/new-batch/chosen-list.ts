import { type ReadonlySignal, signal } from "@preact/signals";
import type { FileFault } from "../../../../../src/domain/batches/file-fault.ts";
import {
  type ColumnChoice,
  type CsvPreview,
  columnMeanings,
  columnOf,
  csvPreview,
  fileFaultOf,
  missingVariables,
  withHeader,
} from "./csv-preview.ts";

/** A file to import, with the names of its columns. */
export interface ChosenFile {
  readonly name: string;
  readonly file: Blob;
  readonly columns: ColumnChoice;
}

/** A file that is refused; without a fault it cannot be read. */
export interface RefusedFile {
  readonly name: string;
  readonly fault: FileFault | undefined;
}

interface OpenList {
  readonly name: string;
  readonly file: Blob;
  readonly preview: CsvPreview;
}

/** The list of people that the user has chosen. */
export class ChosenList {
  readonly #list = signal<OpenList | undefined>(undefined);
  readonly #refused = signal<RefusedFile | undefined>(undefined);
  readonly #choice = signal<ColumnChoice>({});
  /** The file that was chosen last; an earlier one whose reading ends later does not replace it. */
  #opening: symbol | undefined;

  get list(): ReadonlySignal<{ readonly name: string; readonly preview: CsvPreview } | undefined> {
    return this.#list;
  }

  /** The last file, if it is refused. */
  get refused(): ReadonlySignal<RefusedFile | undefined> {
    return this.#refused;
  }

  /** True before a file is chosen. */
  get isEmpty(): boolean {
    return this.#list.value === undefined && this.#refused.value === undefined;
  }

  get choice(): ReadonlySignal<ColumnChoice> {
    return this.#choice;
  }

  /** Reads the first rows of a file. */
  async open(name: string, source: Blob): Promise<void> {
    const opening = Symbol(name);
    this.#opening = opening;
    try {
      const file = await withHeader(source);
      const preview = await csvPreview(file);
      if (this.#opening === opening) this.#show({ name, file, preview }, undefined);
    } catch (error) {
      // Without a fault the file has been moved or deleted in the meantime.
      if (this.#opening === opening) this.#show(undefined, { name, fault: fileFaultOf(error) });
    }
  }

  #show(list: OpenList | undefined, refused: RefusedFile | undefined): void {
    this.#choice.value = {};
    this.#list.value = list;
    this.#refused.value = refused;
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
    this.#opening = undefined;
    this.#show(undefined, undefined);
  }

  /**
   * The file with the names of its columns; undefined without one, or if the numbers or a variable have no column.
   * @param variables variables of the message
   */
  fileFor(variables: readonly string[]): ChosenFile | undefined {
    const list = this.#list.value;
    const choice = this.#choice.value;
    const meanings = list && columnMeanings(list.preview, choice, variables);
    if (!meanings || missingVariables(meanings, variables).length > 0) return undefined;
    const columns = {
      phone: columnOf(list.preview, meanings, "phone"),
      reference: columnOf(list.preview, meanings, "reference"),
      variableColumns: choice.variableColumns,
    };
    return { name: list.name, file: list.file, columns };
  }
}
