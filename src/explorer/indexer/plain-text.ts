/**
 * Text that a contract chose, as people may be shown it: without control characters, characters that turn the direction of what stands
 * beside them, and characters that take no room; at most `limit` characters, null when nothing is left.
 */
export const plainText = (text: string, limit: number): string | null => {
  const kept = text.normalize('NFC').replace(HIDDEN, '').trim()
  const cut = [...kept].slice(0, limit).join('').trim()
  return cut === '' ? null : cut
}

/** Control, format, surrogate, private use and unassigned characters, line and paragraph separators. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu
