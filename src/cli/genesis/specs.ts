import type { Hex } from '@tandem/base/bytes.ts'
import { InvalidArgumentError } from 'commander'
import { addressOption, tokensOption } from '../shared/options/options.ts'

/** Member of the first council as given on the command line; omitted fields have defaults. */
export interface ValidatorSpec {
  /** An address, or the path of a key file. */
  readonly key: string
  readonly name?: string
  readonly stakeWei?: bigint
  readonly reward?: Hex
  readonly owner?: Hex
}

export interface Fund {
  readonly address: Hex
  readonly wei: bigint
}

/** `KEY[,name=TEXT][,stake=TOKENS][,reward=ADDRESS][,owner=ADDRESS]` */
export const validatorSpec = (text: string): ValidatorSpec => {
  const [key = '', ...settings] = text.split(',').map(part => part.trim())
  if (key === '' || /^(name|stake|reward|owner)=/.test(key))
    throw new InvalidArgumentError('It begins with the address or the key file of the validator.')
  // A key that starts like an address is parsed as one.
  let spec: ValidatorSpec = { key: /^0x[0-9a-f]*$/i.test(key) ? addressOption(key) : key }
  for (const setting of settings) spec = { ...spec, ...settingOf(setting) }
  return spec
}

const settingOf = (setting: string): Partial<ValidatorSpec> => {
  const [name, value] = split(setting)
  if (name === 'name' && value !== '') return { name: value }
  if (name === 'stake') return { stakeWei: tokensOption(value) }
  if (name === 'reward') return { reward: addressOption(value) }
  if (name === 'owner') return { owner: addressOption(value) }
  throw new InvalidArgumentError(`"${setting}" is none of name=TEXT, stake=TOKENS, reward=ADDRESS, owner=ADDRESS.`)
}

/** `ADDRESS=TOKENS` */
export const fund = (text: string): Fund => {
  const [who, amount] = split(text)
  return { address: addressOption(who), wei: tokensOption(amount) }
}

const split = (text: string): readonly [name: string, value: string] => {
  const at = text.indexOf('=')
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
