/** The text without the characters of one kind that it ends with. Linear, as `/0+$/` is not: that starts again at each of them. */
export const withoutTrailing = (text: string, character: string): string => {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}
