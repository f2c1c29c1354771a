import type { Texts } from "../dictionary.ts";
import type en from "../en/file-faults.ts";

export default {
  format: {
    pdf: "o arquivo é um PDF, não um CSV: exporte-o como CSV",
    ods: "o arquivo é uma planilha (ODS), não um CSV: salve-o como CSV",
    xlsx: "o arquivo é uma pasta de trabalho do Excel (XLSX), não um CSV: salve-o como CSV UTF-8",
    zip: "o arquivo é um ZIP, não um CSV: descompacte-o e escolha o arquivo CSV dentro dele",
    gzip: "o arquivo está compactado (gzip), não é um CSV: descompacte-o antes",
    xls: "o arquivo é uma pasta de trabalho antiga do Excel (XLS), não um CSV: salve-o como CSV",
    rtf: "o arquivo é um documento de texto (RTF), não um CSV: salve-o como CSV",
    markup: "o arquivo é HTML ou XML, não um CSV: exporte-o como CSV",
    json: "o arquivo é JSON, não um CSV: exporte-o como CSV",
  },
  utf16: "o arquivo é um texto em UTF-16: salve-o como CSV em UTF-8",
  not_text:
    "o arquivo não é um texto em UTF-8 nem em Windows-1252 (UTF-16, ou uma planilha?): salve-o como CSV em UTF-8",
  empty: "o arquivo está vazio; a primeira linha precisa dar nome às colunas, como telefone,nome",
  no_rows: "o arquivo não tem linhas abaixo do cabeçalho: acrescente uma para cada pessoa",
  row: (row: number) => `linha ${row}`,
  quote_open: 'falta fechar uma aspa: ponha a segunda ", ou escreva "" para uma aspa dentro de uma célula',
  row_too_long: (maxBytes: number) => `a linha tem mais de ${maxBytes} bytes: encurte as células`,
  byte_unknown: (byte: string) =>
    `o byte ${byte} não é um caractere em UTF-8 nem em Windows-1252: salve o arquivo como CSV em UTF-8`,
  too_many_cells: (cells: number, maxCells: number) =>
    `a linha tem ${cells} células, e são permitidas no máximo ${maxCells}`,
  numbers: "os números",
  references: "as referências",
  variable: (name: string) => `a variável ${name}`,
  numbers_missing: (columns: string) =>
    `nenhuma coluna tem os números de telefone; as colunas são ${columns}: escolha uma delas, ou dê a uma o nome telefone`,
  numbers_ambiguous: (names: string) => `as colunas ${names} podem ambas ter os números de telefone: escolha uma delas`,
  numbers_repeated: (name: string) =>
    `duas colunas se chamam “${name}”: mude o nome da que não tem os números a chamar`,
  column_missing: (name: string, use: string, columns: string) =>
    `não há coluna “${name}” para ${use}; as colunas são ${columns}`,
  column_repeated: (name: string, use: string) =>
    `duas colunas se chamam “${name}”: mude o nome da que não é para ${use}`,
  column_taken: (name: string, otherUse: string, use: string) =>
    `a coluna “${name}” já tem ${otherUse}, e não pode ser a coluna de outro uso: ${use}`,
  variable_repeated: (name: string) => `duas colunas se chamam “${name}”: mude o nome da que a mensagem não usa`,
  variables_missing: (placeholders: string, columns: string, first: string) =>
    `a mensagem precisa de ${placeholders}, e nenhuma coluna tem esse nome; as colunas são ${columns}: escolha uma delas, ou dê a uma o nome “${first}”`,
} satisfies Texts<typeof en>;
