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

/** A file to import, with its column names. */
export interface ChosenFile {
  readonly name: string;
  readonly file: Blob;
  readonly columns: ColumnChoice;
}

/** A refused file; if it has no fault, it could not be read. */
export interface RefusedFile {
  readonly name: string;
  readonly fault: FileFault | undefined;
}

interface OpenList {
  readonly name: string;
  readonly file: Blob;
  readonly preview: CsvPreview;
}

/** The list of people chosen by the user. */
export class ChosenList {
  readonly #list = signal<OpenList | undefined>(undefined);
  readonly #refused = signal<RefusedFile | undefined>(undefined);
  readonly #choice = signal<ColumnChoice>({});
  /** The file chosen last; an earlier one does not replace it, even if reading it takes longer. */
  #opening: symbol | undefined;

  get list(): ReadonlySignal<{ readonly name: string; readonly preview: CsvPreview } | undefined> {
    return this.#list;
  }

  /** The last file, if it was refused. */
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
      // Without a fault, the file has been moved or deleted since it was chosen.
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

  /** Chooses a variable's column, which is then no longer another variable's. */
  chooseVariable(variable: string, column: string): void {
    const earlier = Object.entries(this.#choice.value.variableColumns ?? {}).filter(([, other]) => other !== column);
    this.choose({ variableColumns: { ...Object.fromEntries(earlier), [variable]: column } });
  }

  clear(): void {
    this.#opening = undefined;
    this.#show(undefined, undefined);
  }

  /**
   * The file with its column names; undefined if there is no file, or if the numbers or a variable have no column.
   * @param variables names of the variables in the message
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
