//! Elements of JSX: components, and the properties that attributes set.

use crate::fixture::{breaking, referrers};

#[test]
fn attributes_give_the_properties_of_a_component() {
    let files = "\
=== button.tsx
import * as React from 'react';
export interface Props { label: string; size?: number }
export type Other = { label: string; wide?: boolean };
export function Plain(props: Props) { return <b>{props.label}</b>; }
export const Arrow = ({ label }: Props) => <b>{label}</b>;
export const Typed: React.FC<Props> = ({ label }) => <b>{label}</b>;
export const Short: FunctionComponent<Props> = (props) => <b>{props.label}</b>;
export const Inline = ({ label }: { label: string; tone: string }) => <b>{label}</b>;
export class Classy extends React.Component<Props> { render() { return <b>{this.props.label}</b>; } }
export const Wrapped = React.memo(function Wrapped(props: Props) { return <b>{props.label}</b>; });
export const Forwarded = React.forwardRef<HTMLElement, Props>((props, ref) => <b>{props.label}</b>);
export const Elsewise = (props: Other) => <b>{props.label}</b>;
=== page.tsx
import * as all from './button';
import { Plain, Arrow, Typed, Short, Inline, Classy, Wrapped, Forwarded, Elsewise } from './button';
export const Page = () => <div>
  <Plain label='x' />
  <Arrow label={'x'} size={2}>text</Arrow>
  <Typed label='x' />
  <Short label='x' />
  <Inline label='x' tone='y' />
  <Classy label='x' />
  <Wrapped label='x' />
  <Forwarded label='x' />
  <Elsewise label='x' />
  <all.Plain label='x' />
  <div label='x' />
</div>;
";
    let lines = [4, 5, 6, 7, 9, 10, 11, 13].map(|line| format!("page.tsx:{line} Construct"));
    assert_eq!(referrers(files, "button.tsx", "Props.label"), lines);
    assert_eq!(referrers(files, "button.tsx", "Props.size"), ["page.tsx:5 Construct"]);
    assert_eq!(referrers(files, "button.tsx", "Other.label"), ["page.tsx:12 Construct"]);
    assert_eq!(breaking(files, "button.tsx", "tone: string", "shade: string"), ["page.tsx"]);
    assert_eq!(breaking(files, "button.tsx", "size?: number", "width?: number"), ["page.tsx"]);
    assert_eq!(breaking(files, "button.tsx", "wide?: boolean", "broad?: boolean"), [""; 0]);
}

#[test]
fn attributes_of_an_unknown_component_are_undecided() {
    let files = "\
=== props.ts
export interface Props { label: string }
=== page.tsx
import { Props } from './props';
export function page<P>(Part: P, props: Props) {
  return <Part label='x' />;
}
";
    assert_eq!(referrers(files, "props.ts", "Props.label"), ["page.tsx:3 Construct??"]);
    assert_eq!(breaking(files, "props.ts", "label", "title"), [""; 0]);
}
