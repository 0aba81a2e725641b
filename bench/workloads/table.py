"""What is printed: the figures, the ratios, the goals, and what makes figures worthless."""
from columns import print_rows, text
from figures import FIELDS
from machine import in_words
import renewals


def fields_of(rows):
    return [entry for entry in FIELDS if any(row.get(entry[0]) for row in rows)]


def bound(goal):
    return f"{'at least' if goal['relation'] == '>=' else 'at most'} {goal['bound']:,g}"


def reached(goal):
    if goal['values'] is None:
        return 'not measured'
    median, least, most = goal['values']
    form = '{:,.0f}' if median >= 100 else '{:.3g}'
    return form.format(median) + ('' if least == most else f' ({form.format(least)}–{form.format(most)})')


def print_figures(rows):
    fields = fields_of(rows)
    print_rows([['', 'in flight'] + [title for _, title, _ in fields]] +
               [[f"{row['client']}, {row['place']}", str(row['in_flight'])] +
                [text(row[field], form) for field, _, form in fields] for row in rows])


def print_ratios(rows):
    fields = fields_of(rows)
    print_rows([['', 'in flight'] + [title for _, title, _ in fields]] +
               [[' / '.join(', '.join(reversed(row[side])) for side in ('ours', 'other')), str(row['in_flight'])] +
                [text(row[field], '{:.2f}') for field, _, _ in fields] for row in rows])


def print_all(result):
    print(f"{result['title']}: {in_words(result['machine'])}, {result['rounds']} rounds: median (least–most)")
    print()
    print_figures(result['rows'])
    print()
    print_ratios(result['ratios'])
    print()
    for peer, why in result.get('absent', {}).items():
        print(f'{peer}: not measured: {why}')
    if 'renewals' in result:
        print(renewals.in_words(result['renewals']))
    if 'renewals_before' in result:
        print('before: ' + renewals.in_words(result['renewals_before']))
    for goal in result['goals']:
        print(f"goal: {goal['title']} {bound(goal)}: {reached(goal)}, {'met' if goal['met'] else 'NOT met'}")
    for sentence in result['faults']:
        print(f'WRONG: {sentence}')
