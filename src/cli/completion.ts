import { Argument, type Command, type Option } from 'commander'
import { commandsBelow, pathOf } from './shared/options/option-sources.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const addCompletionCommand = (program: Command): void => {
  program
    .command('completion')
    .description('Print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: (typeof SHELLS)[number]) => void process.stdout.write(renderCompletion(program, shell)))
}

const HELP = `
Install it with one of
  tandem completion bash > ~/.local/share/bash-completion/completions/tandem
  tandem completion zsh >> ~/.zshrc
  tandem completion fish > ~/.config/fish/completions/tandem.fish`

/** Words behind a command: its commands and its options. */
const wordsOf = ({ commands, options }: Command): readonly string[] => [
  ...commands.map(command => command.name()),
  ...options.flatMap(({ long }) => long ?? []),
]

const choicesOf = ({ argChoices }: Option): readonly string[] => argChoices ?? []

/** Completes commands, options and choices; what takes a file completes files. */
export const renderCompletion = (program: Command, shell: (typeof SHELLS)[number]): string => {
  const all = [program, ...commandsBelow(program)]
  if (shell === 'fish') return renderFish(all)
  const lines = all.map(command => `    '${pathOf(command).join(' ')}') words='${wordsOf(command).join(' ')}' ;;`)
  const choices = all.flatMap(command =>
    command.options
      .filter(option => choicesOf(option).length > 0)
      .map(option => `    '${pathOf(command).join(' ')} ${option.long}') words='${choicesOf(option).join(' ')}' ;;`),
  )
  const script = `_tandem() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    path="\${path:+$path }$word"
  done
  case "$path $before" in
${choices.join('\n')}
  esac
  [[ -z $words ]] && case "$path" in
${lines.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _tandem tandem
`
  return shell === 'bash' ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`
}

const renderFish = (all: readonly Command[]): string => {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = all.flatMap(command => {
    const path = pathOf(command)
    const inside = path.map(name => `__fish_seen_subcommand_from ${name}`)
    const outside =
      command.commands.length > 0
        ? [`not __fish_seen_subcommand_from ${command.commands.map(each => each.name()).join(' ')}`]
        : []
    const when = [...inside, ...outside].join('; and ') || 'true'
    return [
      ...command.commands.map(
        each => `complete -c tandem -f -n ${quoted(when)} -a ${each.name()} -d ${quoted(each.description())}`,
      ),
      ...command.options
        .filter(({ long }) => long !== undefined)
        .map(option => {
          const takes = option.required ? ` -${choicesOf(option).length > 0 ? 'x' : 'r'}` : ''
          const choices = choicesOf(option).length > 0 ? ` -a ${quoted(choicesOf(option).join(' '))}` : ''
          return `complete -c tandem -n ${quoted(when)} -l ${option.long?.slice(2)}${takes}${choices} -d ${quoted(option.description)}`
        }),
    ]
  })
  return `${lines.join('\n')}\n`
}
