import { type Fragment, type Html, html } from '@tandem/web/html.ts'

export interface Column<T> {
  readonly title: string
  /** Right-aligned, not broken. */
  readonly isNumber?: boolean
  readonly cell: (row: T, index: number) => Fragment
}

/** A table whose rows become cards on a narrow screen; `empty` stands in its place when it has no rows. */
export const table = <T>(caption: string, columns: readonly Column<T>[], rows: readonly T[], empty: Html): Html =>
  rows.length === 0
    ? empty
    : html`
<table class="cards"><caption class="hidden">${caption}</caption>
<thead><tr>${columns.map(({ title, isNumber }) => html`<th scope="col"${isNumber && html` class="number"`}>${title}</th>`)}</tr></thead>
<tbody>${rows.map((row, index) => html`<tr>${columns.map(column => tableCell(column, row, index))}</tr>`)}</tbody></table>`

const tableCell = <T>({ title, isNumber, cell }: Column<T>, row: T, index: number): Html =>
  html`<td${isNumber && html` class="number"`} data-label="${title}"><span>${cell(row, index)}</span></td>`

/** Figures of a chart as a table, folded away below it. */
export const dataTable = (
  caption: string,
  titles: readonly string[],
  rows: readonly (readonly Fragment[])[],
): Html => html`
<details class="data"><summary>Data table</summary><div class="scroll" tabindex="0" role="region" aria-label="${caption}">
<table><caption class="hidden">${caption}</caption><thead><tr>${titles.map(title => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map(row => html`<tr>${row.map(value => html`<td>${value}</td>`)}</tr>`)}</tbody></table></div></details>`
