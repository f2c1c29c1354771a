import type { ColumnMeaning } from "../../../../../src/domain/batches/target-csv.ts";
import { Select } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import type { ChosenList } from "./chosen-list.ts";
import {
  type CsvPreview,
  columnMeanings,
  columnOf,
  columnOfVariable,
  headerFault,
  missingVariables,
  phoneCandidates,
} from "./csv-preview.ts";
import { fileFaultSentence } from "./file-fault-sentence.ts";
import { newBatchTexts as t } from "./new-batch-texts.ts";

/** The meaning of each column, with the first rows. */
export function ColumnMapping({
  list,
  preview,
  variables,
}: {
  readonly list: ChosenList;
  readonly preview: CsvPreview;
  readonly variables: readonly string[];
}) {
  const texts = t.value.list;
  const choice = list.choice.value;
  const meanings = columnMeanings(preview, choice, variables);
  const namesFault = headerFault(preview, choice, variables);
  const columns = preview.header.filter((name) => name.trim() !== "").map((name) => ({ value: name, text: name }));
  const phoneColumn = meanings && columnOf(preview, meanings, "phone");
  const otherColumns = columns.filter(({ value }) => value !== phoneColumn);
  const rivalColumns =
    choice.phone === undefined
      ? phoneCandidates(preview, choice, variables).filter((name) => name !== phoneColumn)
      : [];
  const missingNames = meanings ? missingVariables(meanings, variables) : [];
  // A column with a usual name is the reference, even if none is chosen.
  const defaultMeanings = meanings && columnMeanings(preview, { ...choice, reference: undefined }, variables);
  const hasReference = defaultMeanings?.some(({ kind }) => kind === "reference") ?? false;
  return (
    <>
      <div class="columns">
        <Select
          label={texts.phone}
          value={phoneColumn ?? ""}
          fault={meanings || namesFault !== undefined ? undefined : texts.noPhone}
          options={meanings ? columns : [{ value: "", text: texts.choose }, ...columns]}
          onChange={(phone) => list.choose({ phone: phone || undefined })}
        />
        <Select
          label={texts.reference}
          value={(meanings && columnOf(preview, meanings, "reference")) ?? ""}
          options={hasReference ? columns : [{ value: "", text: texts.noReference }, ...columns]}
          onChange={(reference) => list.choose({ reference: reference || undefined })}
        />
        {variables.map((name) => (
          <Select
            key={name}
            label={texts.variable(`{{${name}}}`)}
            fault={missingNames.includes(name) ? texts.choose : undefined}
            value={(meanings && columnOfVariable(preview, meanings, name)) ?? ""}
            options={missingNames.includes(name) ? [{ value: "", text: texts.choose }, ...otherColumns] : otherColumns}
            onChange={(column) => list.chooseVariable(name, column)}
          />
        ))}
      </div>
      {namesFault !== undefined && (
        <Notice tone="bad">{fileFaultSentence(list.list.value?.name ?? "", namesFault)}</Notice>
      )}
      {phoneColumn !== undefined && rivalColumns.length > 0 && (
        <Notice tone="warn">{texts.severalPhones(phoneColumn, rivalColumns.join(", "))}</Notice>
      )}
      {missingNames.length > 0 && (
        <Notice tone="warn">{texts.missing(missingNames.map((name) => `{{${name}}}`).join(", "))}</Notice>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section class="csv-preview" tabIndex={0} aria-label={texts.preview}>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.row}</th>
              {preview.header.map((name, index) => (
                <th key={index} scope="col">
                  {name}
                  <Role meaning={meanings?.[index]} variables={variables} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {preview.rows.map(({ row, cells }) => (
              <tr key={row}>
                <td class="quiet">{row}</td>
                {preview.header.map((_, index) => (
                  <td key={index}>{cells[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

/** The meaning of a column, below its name. */
function Role({
  meaning,
  variables,
}: {
  readonly meaning: ColumnMeaning | undefined;
  readonly variables: readonly string[];
}) {
  const { roles, unused } = t.value.list;
  if (!meaning) return null;
  if (meaning.kind !== "variable") return <small>{roles[meaning.kind]}</small>;
  const isUsed = variables.includes(meaning.name);
  return (
    <small>
      <code>{`{{${meaning.name}}}`}</code>
      {!isUsed && ` ${unused}`}
    </small>
  );
}
