.out o0 position
.out o1 color
.constf c8, 1.0, 0.5, 0.0, 2.0
main:
rsq r1.x, -v0.x
mul r0, r1.x, v1
jmpu !b1, over
add r0, r0, c8
over:
mov o0, r0
mov o1, c8
end
