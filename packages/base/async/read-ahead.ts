/** Yields what `read` answers for each item, in their order, while up to `width` answers are awaited. Ends once none is. */
export async function* readAhead<Item, Answer>(
  items: AsyncIterable<Item> | Iterable<Item>,
  width: number,
  read: (item: Item) => Promise<Answer>,
): AsyncGenerator<Answer> {
  const awaited: Promise<Answer>[] = []
  try {
    for await (const item of items) {
      const answer = read(item)
      // Its turn to be awaited, and to throw, comes later.
      answer.catch(() => {})
      awaited.push(answer)
      if (awaited.length === width) yield await (awaited.shift() as Promise<Answer>)
    }
    for (let next = awaited.shift(); next !== undefined; next = awaited.shift()) yield await next
  } finally {
    await Promise.allSettled(awaited)
  }
}
