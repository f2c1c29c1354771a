import { useId } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { FileDrop, InputFault, LabelledInput } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import type { ChosenList } from "./chosen-list.ts";
import { ColumnMapping } from "./column-mapping.tsx";
import { fileFaultSentence } from "./file-fault-sentence.ts";
import { newBatchTexts as t } from "./new-batch-texts.ts";

/** The list of people, as a dropped or chosen file or as pasted text, with a preview. */
export function ListFields({
  list,
  variables,
  fault,
  onOpen,
}: {
  readonly list: ChosenList;
  /** Names of the variables in the message. */
  readonly variables: readonly string[];
  readonly fault?: string | undefined;
  /** Called when another list is chosen. */
  readonly onOpen: () => void;
}) {
  const id = useId();
  const texts = t.value.list;
  const chosenList = list.list.value;
  const refused = list.refused.value;
  return (
    <div class="stack batch-list">
      <div class="field batch-list">
        <label for={id}>{texts.label}</label>
        <FileDrop
          id={id}
          text={texts.drop}
          accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain"
          fault={fault}
          isNameless={chosenList !== undefined || refused !== undefined}
          onFile={(file) => {
            onOpen();
            void list.open(file.name, file);
          }}
        />
        <div class="field-hint" id={`${id}-hint`}>
          {texts.hint}
        </div>
        <InputFault id={id} fault={fault} />
      </div>
      <details class="more">
        <summary>{texts.paste}</summary>
        <LabelledInput label={texts.pasteLabel} hint={texts.pasteHint}>
          {(inputAttributes) => (
            <textarea
              {...inputAttributes}
              rows={5}
              spellcheck={false}
              placeholder={"phone,name\n+12025550100,Ana"}
              onInput={(event) => {
                onOpen();
                const { value } = event.currentTarget;
                if (value.trim() === "") list.clear();
                else void list.open(texts.pasted, new Blob([value]));
              }}
            />
          )}
        </LabelledInput>
      </details>
      {refused && (
        <Notice tone="bad">
          <p>{refused.fault ? fileFaultSentence(refused.name, refused.fault) : texts.unreadable}</p>
        </Notice>
      )}
      {chosenList && (
        <>
          <div class="row row-apart">
            <strong>{chosenList.name}</strong>
            <Button small variant="plain" icon="trash" onClick={() => list.clear()}>
              {texts.remove}
            </Button>
          </div>
          <ColumnMapping list={list} preview={chosenList.preview} variables={variables} />
        </>
      )}
    </div>
  );
}
