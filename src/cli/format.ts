/** Wei as tokens, with thousands apart and no trailing zeros. */
export const formatTokens = (wei: bigint): string => {
  const fraction = (wei % 10n ** 18n).toString().padStart(18, '0').replace(/0+$/, '')
  return `${(wei / 10n ** 18n).toLocaleString('en')}${fraction && `.${fraction}`}`
}
