/** Words kept of one text. */
const MOST_WORDS = 8

/** What a search finds something by, lower case: its texts, and each of their words. */
export const searchTerms = (...texts: readonly (string | null)[]): readonly string[] => {
  const terms = new Set<string>()
  for (const text of texts) {
    if (text === null) continue
    const lower = text.normalize('NFC').toLowerCase()
    if (lower !== '') terms.add(lower)
    for (const word of lower.split(/[\s\-_.:/]+/, MOST_WORDS)) if (word !== '') terms.add(word)
  }
  return [...terms]
}
