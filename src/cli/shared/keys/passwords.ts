import { KEY_LIMITS } from '../../../config/limits/keys.ts'
import { readSecret } from '../files.ts'
import { processTerminal, promptHidden, type Terminal } from './prompt.ts'

export const PASSWORD_VARIABLE = 'TANDEM_PASSWORD'

/** Passwords of key files. Never given on the command line, which every user of a machine can read. */
export interface Passwords {
  /** Returns the password of an encrypted file; `index` counts the key files of the command. Throws when there is no source for it. */
  of(path: string, index?: number): Promise<string>
  /** Returns a new password, which a person types twice. */
  fresh(): Promise<string>
}

/** Takes passwords from --password-file (one per line; the last serves all further files), else from TANDEM_PASSWORD, else asks. */
export const passwordsFrom = (
  passwordFile: string | undefined,
  terminal: Terminal = processTerminal,
  variable: string | undefined = process.env[PASSWORD_VARIABLE],
): Passwords => {
  const given = passwordFile === undefined ? variable : undefined
  const lines = passwordFile === undefined ? undefined : linesOf(passwordFile)
  const written = (index: number): string | undefined => lines?.[Math.min(index, lines.length - 1)] ?? given
  return {
    of: async (path, index = 0) => written(index) ?? (await prompt(`Password of ${path}: `, terminal, path)),
    fresh: async () => checkStrength(written(0) ?? (await promptTwice(terminal))),
  }
}

const linesOf = (file: string): readonly string[] =>
  readSecret(file, '--password-file')
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)

const prompt = async (question: string, terminal: Terminal, path?: string): Promise<string> => {
  if (terminal.input.isTTY === true) return promptHidden(question, terminal)
  const what = path === undefined ? 'The new key needs a password: give it' : `${path} is encrypted: give its password`
  throw new Error(`${what} with --password-file or in ${PASSWORD_VARIABLE}, or run this on a terminal for a prompt.`)
}

const promptTwice = async (terminal: Terminal): Promise<string> => {
  const password = await prompt('New password: ', terminal)
  if ((await prompt('The same again: ', terminal)) === password) return password
  throw new Error('The two passwords differ: nothing was written.')
}

const checkStrength = (password: string): string => {
  if (password === '') throw new Error('An empty password protects nothing: choose another.')
  if (Buffer.byteLength(password) <= KEY_LIMITS.passwordBytes) return password
  throw new Error(`A password has at most ${KEY_LIMITS.passwordBytes} bytes.`)
}
