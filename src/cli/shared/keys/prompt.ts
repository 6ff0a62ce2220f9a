import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Terminal for questions: standard input when it is one, and standard error for the questions, since results go to the output. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream
}

export const processTerminal: Terminal = { input: process.stdin, output: process.stderr }

/** Asks on a terminal without echo. Throws when the person aborts (Ctrl-C, Ctrl-D). */
export const promptHidden = async (question: string, { input, output }: Terminal): Promise<string> => {
  // In terminal mode the line editor does the echo, which is discarded.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  output.write(question)
  try {
    return await answerOf('', { input, output: nowhere })
  } finally {
    output.write('\n')
  }
}

/** Asks on a terminal, with echo. */
export const promptLine = async (question: string, terminal: Terminal): Promise<string> =>
  (await answerOf(question, terminal)).trim()

const answerOf = (question: string, { input, output }: Terminal): Promise<string> =>
  new Promise<string>((resolve, reject) => {
    const editor = createInterface({ input, output, terminal: true, historySize: 0 })
    const ahead: string[] = []
    let answered = false
    editor.once('SIGINT', () => editor.close())
    editor.once('close', () => {
      if (!answered) reject(new Error('Cancelled: nothing was done.'))
    })
    editor.question(question, answer => {
      answered = true
      // Lines that arrived with the answer, as when several are pasted, answer the next questions.
      editor.on('line', line => ahead.push(`${line}\r`))
      setImmediate(() => {
        resolve(answer)
        editor.close()
        if (ahead.length > 0) input.unshift(ahead.join(''))
      })
    })
  })
