/** Returns the text without trailing characters of one kind. Linear, unlike `/0+$/`, which starts again at each of them. */
export const withoutTrailing = (text: string, character: string): string => {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}
