import { withoutTrailing } from '@tandem/base/text.ts'

/** Formats wei as tokens, with thousands separators and no trailing zeros. */
export const formatTokens = (wei: bigint): string => {
  const fraction = withoutTrailing((wei % 10n ** 18n).toString().padStart(18, '0'), '0')
  return `${(wei / 10n ** 18n).toLocaleString('en')}${fraction && `.${fraction}`}`
}
