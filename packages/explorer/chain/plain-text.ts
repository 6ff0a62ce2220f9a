/** Characters that are read for each that may be shown: what comes after so many that cannot be shown is lost. */
const READ_FOR_ONE = 16

/**
 * Text that a contract chose, as people may be shown it: without control characters, characters that turn the direction of what stands
 * beside them, characters that take no room, and marks drawn over what stands around; at most `limit` characters, null when nothing is left.
 * The time is bounded by `limit`, however long the text is.
 */
export const plainText = (text: string, limit: number): string | null => {
  const visible = text
    .slice(0, READ_FOR_ONE * limit)
    .replace(HIDDEN, '')
    .normalize('NFC')
    .replace(PILED, '$1')
  const cut = [...withoutStart(visible)].slice(0, limit).join('').trim()
  return cut === '' ? null : cut
}

/** Control, format, surrogate, private use and unassigned characters, line and paragraph separators, marks that enclose a character. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Me}]/gu

/** Combining marks beyond the three on a character that languages use: a pile reaches into other lines. */
const PILED = /(\p{M}{3})\p{M}+/gu

/** Marks at the start are drawn on what stands before the text. */
const withoutStart = (text: string): string => text.replace(/^[\s\p{M}]+/u, '')
