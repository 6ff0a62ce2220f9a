import fc from 'fast-check'

/** Texts with which a contract or a link may try to leave its place in a page. */
export const ATTACKS: readonly string[] = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title><script>alert(1)</script>',
  '&lt;b&gt;',
  '&#60;script&#62;',
  '<!--',
  ']]>',
  '</textarea></svg><math>',
  'javascript:alert(1)',
  '`#{alert(1)}`',
  '\u202Egnp.exe',
  '\u2066abc\u2069',
  'a\u200Bb\uFEFFc',
  '\u0000\u0007\u001B[31m',
  `${'\u0301'.repeat(200)}z`,
  'x'.repeat(2_000),
]

/** Attack texts, any text, and both mixed. */
export const attackerText = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(...ATTACKS),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(fc.constantFrom('<', '>', '"', "'", '&', '=', '/', 'a', ' ', '\u202E', ';', '#'), { maxLength: 30 })
      .map(parts => parts.join('')),
  )
