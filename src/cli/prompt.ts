import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Where a person can be asked: the standard input when that is a terminal, and the standard error for questions, since results go to the output. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream
}

export const processTerminal: Terminal = { input: process.stdin, output: process.stderr }

/** Asks on a terminal; nothing of the answer is shown. Throws when the person ends it (Ctrl-C, Ctrl-D). */
export const askHidden = async (question: string, { input, output }: Terminal): Promise<string> => {
  // In terminal mode the line editor takes over the echo, and what it would show goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  output.write(question)
  try {
    return await answerOf(createInterface({ input, output: nowhere, terminal: true, historySize: 0 }), '')
  } finally {
    output.write('\n')
  }
}

/** Asks on a terminal, with the answer shown as it is typed. */
export const ask = async (question: string, { input, output }: Terminal): Promise<string> =>
  (await answerOf(createInterface({ input, output, terminal: true, historySize: 0 }), question)).trim()

const answerOf = (line: ReturnType<typeof createInterface>, question: string): Promise<string> =>
  new Promise<string>((resolve, reject) => {
    line.once('SIGINT', () => line.close())
    line.once('close', () => reject(new Error('Cancelled: nothing was done.')))
    line.question(question, answer => {
      resolve(answer)
      line.close()
    })
  })
