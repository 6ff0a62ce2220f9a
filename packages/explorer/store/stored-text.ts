/*
 * Texts that others chose, as both databases store them alike: PostgreSQL has no zero character and no lone surrogate, and an entry of an
 * index has a size limit.
 */

/** Length of stored names, symbols and labels; pages cut them shorter. */
export const STORED_NAME_CHARS = 256

/** Text without zero characters and lone surrogates, at most `chars` long. */
export const storedText = (text: string, chars: number): string =>
  text.slice(0, chars).replaceAll('\0', '').toWellFormed()

export const storedTextOrNull = (text: string | null, chars: number): string | null =>
  text === null ? null : storedText(text, chars)
