/** Number of words kept of one text. */
const MAX_WORDS = 8

/** Lower-case terms by which a search finds an entry: its texts, and each of their words. */
export const searchTerms = (...texts: readonly (string | null)[]): readonly string[] => {
  const terms = new Set<string>()
  for (const text of texts) {
    if (text === null) continue
    const lower = text.normalize('NFC').toLowerCase()
    if (lower !== '') terms.add(lower)
    for (const word of lower.split(/[\s\-_.:/]+/, MAX_WORDS)) if (word !== '') terms.add(word)
  }
  return [...terms]
}
