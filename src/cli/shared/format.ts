import { withoutTrailing } from '../../util/text.ts'

/** Wei as tokens, with thousands apart and no trailing zeros. */
export const formatTokens = (wei: bigint): string => {
  const fraction = withoutTrailing((wei % 10n ** 18n).toString().padStart(18, '0'), '0')
  return `${(wei / 10n ** 18n).toLocaleString('en')}${fraction && `.${fraction}`}`
}
