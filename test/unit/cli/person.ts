import { PassThrough, Writable } from 'node:stream'
import type { Terminal } from '../../../src/cli/shared/keys/prompt.ts'

/** A terminal with somebody at it who answers each question with the next line, and everything that was shown there. */
export const person = (...answers: readonly string[]): Terminal & { shown(): string } => {
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const waiting = [...answers]
  let shown = ''
  const output = new Writable({
    write(chunk, _encoding, done) {
      const text = String(chunk)
      shown += text
      // A question ends in a blank; what is typed early would go to a line that nobody reads.
      if (text.endsWith(': ')) setImmediate(() => input.write(`${waiting.shift() ?? '\u0004'}\r`))
      done()
    },
  })
  return { input, output, shown: () => shown }
}

/** No terminal: a script, or a service. */
export const nobody = (): Terminal => ({ input: new PassThrough(), output: new PassThrough() })
